import { E as useDatabase, I as timestamp, F as newId } from '../nitro/nitro.mjs';

const KEPT = 200;
const KEPT_REFUSED = 50;
const MAX_CHARACTERS = 500;
let refused = [];
function logDelivery(facts) {
  const entry = {
    id: newId("delivery"),
    at: timestamp(Date.now()),
    event: plain(facts.event),
    delivery: plain(facts.delivery),
    repository: plain(facts.repository),
    ref: plain(facts.ref),
    commit: plain(facts.commit),
    verdict: facts.verdict,
    reason: plain(facts.reason),
    deploys: facts.deploys
  };
  if (entry.verdict === "refused") refused = [entry, ...refused].slice(0, KEPT_REFUSED);
  else write(entry);
}
function listDeliveries(limit) {
  const rows = useDatabase().all(
    "SELECT * FROM git_deliveries ORDER BY sequence DESC LIMIT ?",
    Math.min(limit, KEPT)
  );
  return [...rows.map(read), ...refused].sort((left, right) => Date.parse(right.at) - Date.parse(left.at)).slice(0, limit);
}
function write(entry) {
  const database = useDatabase();
  database.transaction(() => {
    database.run(
      `INSERT INTO git_deliveries (id, at, event, delivery, repository, ref, commit_sha, verdict, reason, deploys)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      entry.id,
      Date.parse(entry.at),
      entry.event,
      entry.delivery,
      entry.repository,
      entry.ref,
      entry.commit,
      entry.verdict,
      entry.reason,
      JSON.stringify(entry.deploys)
    );
    database.run(
      "DELETE FROM git_deliveries WHERE sequence <= (SELECT max(sequence) FROM git_deliveries) - ?",
      KEPT
    );
  });
}
function read({ at, commit_sha, deploys, ...row }) {
  return {
    id: row.id,
    at: timestamp(at),
    event: row.event,
    delivery: row.delivery,
    repository: row.repository,
    ref: row.ref,
    commit: commit_sha,
    verdict: row.verdict,
    reason: row.reason,
    deploys: JSON.parse(deploys)
  };
}
function plain(text) {
  return text === null ? null : text.slice(0, MAX_CHARACTERS).replaceAll(/\p{C}/gu, "");
}

export { logDelivery as a, listDeliveries as l };
