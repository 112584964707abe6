function bareHost(hostname) {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

export { bareHost as b };
