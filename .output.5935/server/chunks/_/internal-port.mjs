import { E as useDatabase, J as useContext } from '../nitro/nitro.mjs';
import { a as JOB_IN_PROGRESS_SQL } from './states2.mjs';

const FACTS = [
  "id",
  "sequence",
  "service_id",
  "status",
  "trigger",
  "command",
  "own_command",
  "deploy_id",
  "image",
  "exit_code",
  "error",
  "created_at",
  "started_at",
  "finished_at"
];
const FACT_COLUMNS = FACTS.map((fact) => `jobs.${fact}`).join(", ");
function insertJob(job) {
  const row = { ...job, status: "pending", created_at: Date.now() };
  const columns = Object.keys(row);
  useDatabase().run(
    `INSERT INTO jobs (sequence, ${columns.join(", ")})
     VALUES ((SELECT coalesce(max(sequence), 0) + 1 FROM jobs), ${columns.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
}
function getJob(id) {
  return useDatabase().get("SELECT * FROM jobs WHERE id = ?", id);
}
function jobStatus(id) {
  return useDatabase().get("SELECT status FROM jobs WHERE id = ?", id)?.status;
}
function listJobs(serviceId, limit) {
  return useDatabase().all(
    `SELECT ${FACT_COLUMNS} FROM jobs WHERE service_id = ? ORDER BY sequence DESC LIMIT ?`,
    serviceId,
    limit
  );
}
function jobsInProgress(serviceId) {
  const scope = serviceId === void 0 ? "" : "AND service_id = ?";
  return useDatabase().all(
    `SELECT ${FACT_COLUMNS} FROM jobs WHERE status IN (${JOB_IN_PROGRESS_SQL}) ${scope} ORDER BY sequence`,
    ...serviceId === void 0 ? [] : [serviceId]
  );
}
function runningJobs(environmentId) {
  const rows = useDatabase().all(
    `SELECT jobs.service_id, count(*) AS running FROM jobs JOIN services ON services.id = jobs.service_id
     WHERE jobs.status = 'running' AND services.environment_id = ? GROUP BY jobs.service_id`,
    environmentId
  );
  return new Map(rows.map(({ service_id, running }) => [service_id, running]));
}
function lastRuns(environmentId, only) {
  const rows = useDatabase().all(
    `SELECT ${FACT_COLUMNS} FROM services JOIN jobs ON jobs.sequence =
       (SELECT max(sequence) FROM jobs
        WHERE service_id = services.id AND own_command = 1 AND status NOT IN (${JOB_IN_PROGRESS_SQL}))
     WHERE services.type = 'cron_job' AND services.${only === void 0 ? "environment_id" : "id"} = ?`,
    only ?? environmentId
  );
  return new Map(rows.map((row) => [row.service_id, row]));
}
function jobsBeyond(kept) {
  const database = useDatabase();
  const full = database.all(
    "SELECT service_id FROM jobs GROUP BY service_id HAVING count(*) > ?",
    kept
  );
  return full.flatMap(
    ({ service_id }) => database.all(
      `SELECT id FROM jobs WHERE service_id = ? AND status NOT IN (${JOB_IN_PROGRESS_SQL})
         ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
      service_id,
      kept
    ).map(({ id }) => id)
  );
}
function deleteJob(id) {
  useDatabase().run("DELETE FROM jobs WHERE id = ?", id);
}
function sealJobSnapshot(snapshot) {
  return useContext().vault.seal(JSON.stringify(snapshot));
}
function openJobSnapshot(job) {
  return job.snapshot === null ? null : JSON.parse(useContext().vault.open(job.snapshot));
}

const DEFAULT_PORT = 1e4;
const MAX_PORT = 65535;
function portOf(variable) {
  const port = variable !== void 0 && /^\d{1,5}$/.test(variable) ? Number(variable) : 0;
  return port >= 1 && port <= MAX_PORT ? port : null;
}

function internalPort(service, livePort) {
  return service.port ?? service.variable_port ?? livePort ?? DEFAULT_PORT;
}

export { DEFAULT_PORT as D, jobsInProgress as a, jobsBeyond as b, insertJob as c, deleteJob as d, lastRuns as e, getJob as g, internalPort as i, jobStatus as j, listJobs as l, openJobSnapshot as o, portOf as p, runningJobs as r, sealJobSnapshot as s };
