import { g as getDeploy } from './store2.mjs';
import { m as messageOf, A as AppError, I as timestamp, aA as parseTimestamp } from '../nitro/nitro.mjs';
import { t as takeTurn } from './log-files.mjs';
import { s as serviceLog, e as takesAll, f as systemLine, l as lineMatcher, g as lostLine, a as readTail, p as parseSearch } from './filter.mjs';
import { S as SearchThread, i as instanceDeploys } from './instances.mjs';
import { S as Slots } from './slots.mjs';
import { z } from 'zod';
import { Q as QueryBoolean, I as InEnvironment, L as LogTail } from './query.mjs';

const ALL_BYTES = 64 * 1024 * 1024;
const READER_BYTES = 24 * 1024 * 1024;
let free = ALL_BYTES;
class ReaderRoom {
  #held = 0;
  take(bytes) {
    if (bytes > this.left) return false;
    this.#held += bytes;
    free -= bytes;
    return true;
  }
  /** How much more it may hold. */
  get left() {
    return Math.min(free, READER_BYTES - this.#held);
  }
  /** Gives bytes back that were sent; all without a number. */
  give(bytes = this.#held) {
    this.#held -= bytes;
    free += bytes;
  }
}

const MAX_TAIL = 1e5;
const MAX_LOOKS = 8;
const looks = new Slots(MAX_LOOKS);
function filterOf(serviceId, query) {
  return {
    since: query.since ?? null,
    until: query.until ?? null,
    stream: query.stream ?? null,
    instances: instancesWanted(serviceId, query),
    search: query.search ?? null
  };
}
async function openServiceLog(serviceId, query, signal) {
  const filter = filterOf(serviceId, query);
  const tail = Math.min(MAX_TAIL, query.tail);
  const own = serviceLog(serviceId);
  const room = new ReaderRoom();
  if (!query.follow) {
    const slices2 = await own.stored();
    const found = await look(slices2, filter, tail, room, signal);
    return { read: () => blocksOf(found, room), leave: () => room.give() };
  }
  const { slices, ring, position } = await own.join();
  const leave = () => {
    room.give();
    own.leave();
  };
  try {
    const live = liveFilter(filter, signal);
    if (takesAll(filter) && ring.reaches(tail)) {
      const start = ring.tail(tail);
      return { read: (stop) => followed(own.removed, ring, start, live, stop), leave };
    }
    const found = await look(slices, filter, tail, room, signal);
    const read = async function* (stop) {
      yield* blocksOf(found, room);
      yield* followed(own.removed, ring, position, live, stop);
    };
    return { read, leave };
  } catch (error) {
    leave();
    throw error;
  }
}
async function look(slices, filter, tail, room, signal) {
  try {
    return await findIn(slices, filter, tail, room, signal);
  } catch (error) {
    room.give();
    throw error;
  }
}
async function findIn(slices, filter, tail, room, signal) {
  if (filter.search === null || tail === 0) {
    const matcher = takesAll(filter) ? null : lineMatcher(filter);
    return looks.run(() => readTail(slices, matcher, tail, room, signal));
  }
  const thread = new SearchThread(filter, signal);
  try {
    const found = await thread.tail(slices, tail, room.left);
    for (const block of found.blocks) room.take(block.length);
    return found;
  } finally {
    thread.end();
  }
}
async function* blocksOf({ blocks, isCut }, room) {
  if (isCut) yield asBlock(systemLine("older lines are left out here: ask for fewer, or for a shorter time"));
  for (const block of blocks) {
    await takeTurn();
    yield block;
    room.give(block.length);
  }
}
async function* followed(removed, ring, start, live, signal) {
  const stop = AbortSignal.any([signal, removed]);
  for (let position = start; !signal.aborted; ) {
    await takeTurn();
    const taken = ring.take(position);
    if (taken) {
      position = taken.next;
      if (taken.lost > 0) yield asBlock(lostLine(taken.lost, "this reader fell behind"));
      try {
        const text = live ? await live(taken.text) : taken.text;
        if (text.length > 0) yield text;
      } catch (error) {
        yield asBlock(systemLine(messageOf(error)));
        return;
      }
    } else if (stop.aborted) return;
    else await ring.grown.wait(stop);
  }
}
function liveFilter(filter, signal) {
  if (takesAll(filter)) return null;
  if (filter.search && "expression" in filter.search) {
    const thread = new SearchThread(filter, signal);
    return (block) => thread.match(block);
  }
  const matcher = lineMatcher(filter);
  return (block) => Buffer.from(
    matcher(block.toString("utf8")).map((line) => `${line}
`).join("")
  );
}
function instancesWanted(serviceId, { instance, deploy }) {
  if (instance === void 0 && deploy === void 0) return null;
  const known = instanceDeploys(serviceId);
  if (deploy !== void 0 && getDeploy(deploy)?.service_id !== serviceId && ![...known.values()].includes(deploy))
    throw new AppError("not_found", `there is no deploy ${deploy} of this service`);
  const ofDeploy = [...known].filter(([, of]) => deploy === void 0 || of === deploy).map(([id]) => id);
  if (instance === void 0) return ofDeploy;
  const named = ofDeploy.filter((id) => id === instance || id.endsWith(`-${instance}`));
  return named.length > 0 || deploy !== void 0 ? named : [instance];
}
function asBlock(line) {
  return Buffer.from(`${JSON.stringify(line)}
`);
}

const DEFAULT_TAIL = 100;
const MAX_SEARCH_CHARACTERS = 500;
const UNIT_MS = { s: 1e3, m: 6e4, h: 36e5, d: 864e5 };
const Moment = z.string().transform((text, context) => {
  const moment = momentOf(text);
  if (moment !== null) return moment;
  context.issues.push({
    code: "custom",
    input: text,
    message: "must be a time such as 2026-01-02T03:04:05Z, or how long ago, such as 15m, 2h or 3d"
  });
  return z.NEVER;
}).optional().meta({
  override: { type: "string" },
  description: "A timestamp, or how long ago",
  examples: ["15m"]
});
const LogQuery = z.strictObject({
  ...InEnvironment.shape,
  follow: QueryBoolean,
  tail: LogTail(DEFAULT_TAIL),
  since: Moment,
  until: Moment,
  search: z.string().min(1, "must not be empty").max(MAX_SEARCH_CHARACTERS, `must have at most ${MAX_SEARCH_CHARACTERS} characters`).transform(searchIn).optional().meta({ description: "A text in any case, or /an expression/ of RE2", examples: ["timeout"] }),
  stream: z.enum(["stdout", "stderr", "system"]).optional().meta({ description: "Lines of this stream alone" })
});
const isForward = ({ since, until }) => since === void 0 || until === void 0 || since < until;
const FORWARD = { path: ["until"], message: "must be later than since" };
const canEnd = ({ follow, until }) => !follow || until === void 0;
const CAN_END = { path: ["until"], message: "cannot be followed: leave out until or follow" };
const ServiceLogQuery = LogQuery.extend({
  instance: z.string().min(1).max(64).optional().meta({ description: "The name of an instance", examples: ["srv-4f1d0c9a7b3e5d2f6a80-2d100"] }),
  deploy: z.string().min(1).max(64).optional().meta({ description: "The id of a deploy", examples: ["dep-4f1d0c9a7b3e5d2f6a80"] })
}).refine(isForward, FORWARD).refine(canEnd, CAN_END);
const DatastoreLogQuery = LogQuery.refine(isForward, FORWARD).refine(canEnd, CAN_END);
function searchIn(text, context) {
  try {
    return parseSearch(text);
  } catch (error) {
    context.issues.push({ code: "custom", input: text, message: messageOf(error) });
    return z.NEVER;
  }
}
function momentOf(text) {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count === void 0) return timestamp(parseTimestamp(text));
  return timestamp(Math.max(0, Date.now() - Number(count) * UNIT_MS[unit]));
}

export { DatastoreLogQuery as D, ServiceLogQuery as S, openServiceLog as o };
