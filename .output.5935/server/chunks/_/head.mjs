const heads = /* @__PURE__ */ new WeakSet();
function asGet(request) {
  heads.add(request);
  request.method = "GET";
}
function isHead(request) {
  return heads.has(request);
}

export { asGet as a, isHead as i };
