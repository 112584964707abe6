import { d as defineMachine } from './machine.mjs';

const JOB_STATUSES = ["pending", "running", "succeeded", "failed", "canceled"];
const jobMachine = defineMachine({
  table: "jobs",
  moves: {
    pending: ["running", "failed", "canceled"],
    running: ["succeeded", "failed", "canceled"],
    succeeded: [],
    failed: [],
    canceled: []
  }
});
const JOB_IN_PROGRESS = ["pending", "running"];
const JOB_IN_PROGRESS_SQL = JOB_IN_PROGRESS.map((status) => `'${status}'`).join(", ");

export { JOB_IN_PROGRESS as J, JOB_IN_PROGRESS_SQL as a, JOB_STATUSES as b, jobMachine as j };
