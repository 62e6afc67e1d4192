# What the lines of a trial can use.

# Flags for machines on which a halt takes milliseconds.
slow='--max-cpu 0 --max-overhead 20%'

# begin COMMAND...: starts planted, and waits for its first line. Its id is $pid.
begin() {
	: >/tmp/first # it has what another program wrote
	"$@" >/tmp/first 2>&1 &
	until grep -q . /tmp/first; do sleep 0.1; done
	pid=$(pidof planted | tr ' ' '\n' | sort -n | tail -n 1)
}

# goes_on: says so if the target runs, and no thread of it is stopped or traced.
goes_on() {
	sleep 0.3
	if grep -h '^State:.*[tT] (\|^TracerPid:.*[1-9]' /proc/$pid/task/*/status; then return; fi
	before=$(switches)
	sleep 1
	[ "$before" != "$(switches)" ] && echo "the target goes on"
}

# switches: how often the target's threads were put on a processor, or off it.
switches() { grep -h ctxt_switches /proc/$pid/task/*/status | tr '\n' ' '; }

# as USER COMMAND...: runs it as that user, without rights.
as() {
	user=$1
	shift
	su -s /bin/sh "$user" -c 'exec "$@"' -- sh "$@"
}
