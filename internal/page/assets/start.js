// follow loads data from the page's server, and again when they have changed, or when the page restricts them to other calls.
async function follow(page, source) {
  let mark = '', shown = '', ended = false;
  for (;;) {
    const {only} = page;
    if (only !== shown) mark = '';
    try {
      const answer = await fetch(only ? `${source}?${new URLSearchParams({calls: only})}` : source, {headers: mark ? {'If-None-Match': mark} : {}, cache: 'no-store'});
      const data = answer.status === 200 ? await unpack(new Uint8Array(await answer.arrayBuffer())) : null;
      if (only !== page.only) continue; // another choice was made meanwhile
      if (data) {
        page.say('');
        mark = answer.headers.get('ETag') ?? '';
        shown = only;
        page.load(data);
      } else if (answer.status === 400 && only) {
        const why = (await answer.text()).trim(), before = page.header ? shown : '';
        page.refused(before, why);
        if (!page.header) continue;
      } else if (answer.status !== 304) throw new Error(`The recording can't be read now: ${answer.status} ${(await answer.text()).trim()}`);
    } catch (e) {
      page.say(unanswered(e));
      ended = e instanceof TypeError && page.header; // what is shown stays
      if (ended) {
        page.only = shown;
        $('growing').hidden = true;
      }
    }
    await new Promise((done) => {
      page.wake = done;
      if (!page.header || page.header.growing && !ended) setTimeout(done, 2000);
    });
  }
}

document.documentElement.dataset.theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
const page = globalThis.cpprof = new Page();
const source = document.documentElement.dataset.source;
if (source) follow(page, source);
else {
  unpack(fromText($('data').textContent.trim())).then((data) => { $('data').remove(); page.load(data); }).catch((e) => {
    page.say(`The page can't be shown: ${e.message}. It needs a browser of 2023 or later.`);
    throw e;
  });
}
