import { randomBytes } from 'node:crypto';
import { E as useDatabase, F as newId, J as useContext, A as AppError } from '../nitro/nitro.mjs';
import { T as TargetTable, g as decoded, p as patchedFrame, n as newFrame, e as shownTarget } from './table.mjs';

const notifications = new TargetTable("notifications");
const KEPT_DELIVERIES = 100;
const MAX_PENDING = 1e3;
function insertDelivery(notificationId, message) {
  const database = useDatabase();
  const now = Date.now();
  database.run(
    `INSERT INTO notification_deliveries (id, notification_id, type, message, status, next_attempt_at, created_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?)`,
    newId("delivery"),
    notificationId,
    message.type,
    JSON.stringify(message),
    now,
    now
  );
  database.run(
    `UPDATE notification_deliveries SET status = 'failed', next_attempt_at = NULL WHERE status = 'pending' AND sequence IN
     (SELECT sequence FROM notification_deliveries WHERE notification_id = ? AND status = 'pending'
      ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    notificationId,
    MAX_PENDING
  );
  database.run(
    `DELETE FROM notification_deliveries WHERE status <> 'pending' AND sequence IN
     (SELECT sequence FROM notification_deliveries WHERE notification_id = ? AND status <> 'pending'
      ORDER BY sequence DESC LIMIT -1 OFFSET ?)`,
    notificationId,
    KEPT_DELIVERIES
  );
}
function listDeliveries(notificationId) {
  return useDatabase().all(
    "SELECT * FROM notification_deliveries WHERE notification_id = ? ORDER BY sequence DESC LIMIT ?",
    notificationId,
    KEPT_DELIVERIES
  );
}
const LONGEST_WAIT_MS = 3 * 36e5;
const IS_DUE = `status = 'pending' AND (next_attempt_at <= ?1 OR next_attempt_at > ?1 + ${LONGEST_WAIT_MS})`;
function dueNotifications(now) {
  return useDatabase().all(
    `SELECT DISTINCT notification_id AS id FROM notification_deliveries WHERE ${IS_DUE}`,
    now
  ).map(({ id }) => id);
}
function dueDelivery(notificationId, now) {
  return useDatabase().get(
    `SELECT * FROM notification_deliveries WHERE notification_id = ?2 AND ${IS_DUE}
     ORDER BY next_attempt_at, sequence LIMIT 1`,
    now,
    notificationId
  );
}
function nextAttemptAt() {
  return useDatabase().get(
    "SELECT min(next_attempt_at) AS at FROM notification_deliveries WHERE status = 'pending' AND next_attempt_at > ?",
    Date.now()
  )?.at ?? null;
}
function recordAttempt(delivery, attempt, status, nextAttempt) {
  const attempts = [...JSON.parse(delivery.attempts), attempt];
  useDatabase().run(
    "UPDATE notification_deliveries SET attempts = ?, status = ?, next_attempt_at = ? WHERE id = ? AND status = 'pending'",
    JSON.stringify(attempts),
    status,
    nextAttempt,
    delivery.id
  );
}

const SECRET_BYTES = 24;
const MAX_SHOWN_SEGMENTS = 3;
function findNotification(id) {
  const found = notifications.get(id);
  if (!found) throw new AppError("not_found", `there is no notification ${id}`);
  return found;
}
function createNotification(input) {
  const { kind, events = null } = input;
  const { vault } = useContext();
  const secret = kind === "webhook" ? `whsec_${randomBytes(SECRET_BYTES).toString("base64")}` : null;
  const target = targetOf(kind, input.url ?? null, input.to ?? []);
  const row = {
    ...newFrame("notification", input),
    kind,
    ...target,
    secret: secret === null ? null : vault.seal(secret),
    events: events && JSON.stringify(events)
  };
  notifications.insert(row);
  return { row, secret };
}
function patchNotification(row, patch) {
  const { url, to, events } = patch;
  const present = openUrl(row);
  const isSame = url === void 0 || present !== null && url === shownUrl(row.kind, present);
  const recipients = to ?? JSON.parse(row.recipients);
  const isKept = isSame && to === void 0;
  const target = isKept ? {} : targetOf(row.kind, isSame ? present : url, recipients);
  notifications.update(row.id, {
    ...patchedFrame(patch),
    ...target,
    ...events === void 0 ? {} : { events: events && JSON.stringify(events) }
  });
  return notifications.get(row.id);
}
function deleteNotification(row) {
  notifications.remove(row.id);
}
function openUrl(row) {
  return row.url === null ? null : useContext().vault.open(row.url);
}
function shownUrl(kind, url) {
  const shown = new URL(shownTarget(url));
  if (kind !== "slack" && kind !== "discord") return shown.href;
  const segments = shown.pathname.split("/").filter((segment) => segment !== "");
  shown.pathname = [...segments.slice(0, -1).slice(0, MAX_SHOWN_SEGMENTS), "***"].join("/");
  shown.search = "";
  shown.hash = "";
  return shown.href;
}
function topicOf({ pathname }) {
  const last = pathname.split("/").findLast((part) => part !== "");
  return last === void 0 ? null : decoded(last);
}
function targetOf(kind, url, to) {
  const { options, vault } = useContext();
  if (kind === "email") {
    if (url !== null) throw new AppError("invalid_request", "url: e-mail has none; it has `to`");
    if (to.length === 0) throw new AppError("invalid_request", "to: is required for e-mail");
    if (options.mail === null)
      throw new AppError(
        "invalid_request",
        "kind: e-mail needs a mail server: start the server with --smtp-url and --smtp-from"
      );
    return { url: null, recipients: JSON.stringify(to) };
  }
  if (to.length > 0) throw new AppError("invalid_request", `to: is for e-mail; ${kind} has a url`);
  if (url === null) throw new AppError("invalid_request", `url: is required for ${kind}`);
  if (kind === "ntfy" && !topicOf(new URL(url)))
    throw new AppError("invalid_request", "url: must name a topic, such as https://ntfy.sh/my-topic");
  return { url: vault.seal(url), recipients: "[]" };
}

export { nextAttemptAt as a, dueDelivery as b, deleteNotification as c, dueNotifications as d, createNotification as e, findNotification as f, insertDelivery as i, listDeliveries as l, notifications as n, openUrl as o, patchNotification as p, recordAttempt as r, shownUrl as s, topicOf as t };
