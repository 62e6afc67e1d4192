package page

const userfaultfd = 323
