import { E as useDatabase, l as logger, A as AppError } from '../nitro/nitro.mjs';

const log = logger("states");
function defineMachine(machine) {
  return machine;
}
function tryMove(machine, id, to, columns = {}) {
  const sources = sourcesOf(machine, to);
  const assignments = ["status = ?", ...Object.keys(columns).map((column) => `${column} = ?`)].join(", ");
  const changed = useDatabase().run(
    `UPDATE ${machine.table} SET ${assignments} WHERE id = ? AND status IN (${sources.map(() => "?").join(", ")})`,
    to,
    ...Object.values(columns),
    id,
    ...sources
  );
  if (changed > 0) log.debug(`${id} is ${to}`, "reason" in columns ? { reason: columns.reason } : {});
  return changed > 0;
}
function move(machine, id, to, columns = {}) {
  if (!tryMove(machine, id, to, columns)) throw new AppError("conflict", `${id} cannot become ${to} now`);
}
function sourcesOf(machine, to) {
  return Object.keys(machine.moves).filter((from) => machine.moves[from].includes(to));
}

export { defineMachine as d, move as m, tryMove as t };
