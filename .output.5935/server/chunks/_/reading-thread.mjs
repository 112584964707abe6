import { A as AppError } from '../nitro/nitro.mjs';
import { S as Slots } from './slots.mjs';
import { T as ThreadEnded, W as WorkerThread } from './worker-thread.mjs';

const READING_LIMIT_MS = 2e4;
const MAX_HEAP_MIB = 256;
const MAX_WAITING = 32;
const IDLE_MS = 6e4;
let program;
let thread = null;
let idle;
const turn = new Slots(1);
let waiting = 0;
function provideBlueprintProgram(file) {
  program = file;
}
async function readBlueprintAside(text, context) {
  return await ask({ kind: "blueprint", text, context });
}
async function convertComposeAside(text, origin) {
  return await ask({ kind: "compose", text, origin });
}
async function ask(request) {
  if (waiting >= MAX_WAITING)
    throw new AppError(
      "service_unavailable",
      `${MAX_WAITING} files wait to be read: try again when they have been`,
      { retryAfterSeconds: 1 }
    );
  waiting++;
  const answer = await turn.run(() => read(request)).finally(() => waiting--);
  if ("read" in answer) return answer.read;
  const { code, message, details } = answer.refused;
  throw new AppError(code, message, details && { details });
}
async function read(request) {
  clearTimeout(idle);
  thread ??= start();
  try {
    const answer = await thread.ask(request);
    idle = setTimeout(end, IDLE_MS).unref();
    return answer;
  } catch (error) {
    end();
    if (!(error instanceof ThreadEnded)) throw error;
    throw new AppError("invalid_request", "the file takes too much to be read: make it smaller or plainer", {
      cause: error
    });
  }
}
function end() {
  thread?.end();
  thread = null;
}
function start() {
  if (!program) throw new Error("no program was named that reads blueprints");
  return new WorkerThread({ program, maxHeapMib: MAX_HEAP_MIB, limitMs: READING_LIMIT_MS });
}

export { convertComposeAside as c, provideBlueprintProgram as p, readBlueprintAside as r };
