import { I as timestamp } from '../nitro/nitro.mjs';
import { v as viewFrame } from './table.mjs';
import { o as openUrl, s as shownUrl } from './operations10.mjs';

function viewNotification(row) {
  const url = openUrl(row);
  return {
    ...viewFrame(row),
    kind: row.kind,
    url: url === null ? null : shownUrl(row.kind, url),
    to: JSON.parse(row.recipients),
    events: row.events === null ? null : JSON.parse(row.events)
  };
}
function viewDelivery(row) {
  return {
    id: row.id,
    type: row.type,
    created_at: timestamp(row.created_at),
    status: row.status,
    attempts: JSON.parse(row.attempts),
    next_attempt_at: timestamp(row.next_attempt_at)
  };
}

export { viewNotification as a, viewDelivery as v };
