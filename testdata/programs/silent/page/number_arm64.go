package page

const userfaultfd = 282
