import { d as defineMachine } from './machine.mjs';

const DEPLOY_STATUSES = [
  "queued",
  "building",
  "deploying",
  "live",
  "build_failed",
  "deploy_failed",
  "canceled",
  "deactivated"
];
const deployMachine = defineMachine({
  table: "deploys",
  moves: {
    queued: ["building", "deploying", "deploy_failed", "canceled"],
    building: ["queued", "deploying", "build_failed", "canceled"],
    deploying: ["live", "deploy_failed", "canceled"],
    live: ["deactivated"],
    build_failed: [],
    deploy_failed: [],
    canceled: [],
    deactivated: []
  }
});
const IN_PROGRESS = ["queued", "building", "deploying"];
const IN_PROGRESS_SQL = IN_PROGRESS.map((status) => `'${status}'`).join(", ");

export { DEPLOY_STATUSES as D, IN_PROGRESS_SQL as I, IN_PROGRESS as a, deployMachine as d };
