function answerOf(request) {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
    request.once("close", () => reject(new Error("it answers in another protocol")));
  });
}
function failWithAnswer(request) {
  request.once("response", (answer) => answer.once("error", (error) => request.emit("error", error)));
}
async function beginningOf(response, most) {
  let text = "";
  response.setEncoding("utf8").on("data", (piece) => {
    text = (text + piece).slice(0, most);
    if (text.length === most) response.destroy();
  });
  response.on("error", () => {
  });
  await new Promise((resolve) => response.once("close", resolve));
  return text;
}

export { answerOf as a, beginningOf as b, failWithAnswer as f };
