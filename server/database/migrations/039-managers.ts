/** Nodes that carry the state of the swarm besides the server's own, which always does. */
export default `
-- Whether it is to be a manager.
ALTER TABLE nodes ADD COLUMN is_manager INTEGER NOT NULL DEFAULT 0;
-- What the swarm last said of it as a manager: leader, reachable, unreachable; null for a worker.
ALTER TABLE nodes ADD COLUMN manager_state TEXT;
`
