import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { A as AppError } from '../nitro/nitro.mjs';

const SYSTEMCTL_LIMIT_MS = 12e4;
function requireSystemd(command) {
  if (!existsSync("/run/systemd/system"))
    throw new AppError(
      "invalid_request",
      `deployer ${command} needs systemd, which does not run here: have what starts your services run deployer serve`
    );
  if (process.getuid?.() !== 0) throw new AppError("invalid_request", `run deployer ${command} as root`);
}
async function systemctl(...words) {
  try {
    const { stdout } = await promisify(execFile)("systemctl", words, { timeout: SYSTEMCTL_LIMIT_MS });
    return stdout;
  } catch (cause) {
    const { stderr, message } = cause;
    throw new AppError("io_error", `systemctl ${words.join(" ")}: ${stderr?.trim() || message}`, { cause });
  }
}
const PROPERTIES = [
  "LoadState",
  "ActiveState",
  "UnitFileState",
  "MainPID",
  "ActiveEnterTimestamp",
  "NRestarts"
];
async function unitState(unit) {
  const text = await systemctl("show", unit, ...PROPERTIES.map((name) => `--property=${name}`));
  const values = Object.fromEntries(
    text.trim().split("\n").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
  );
  return {
    loaded: values.LoadState === "loaded",
    active: values.ActiveState === "active" || values.ActiveState === "reloading",
    state: values.ActiveState ?? "unknown",
    enabled: values.UnitFileState === "enabled",
    pid: Number(values.MainPID) || null,
    since: values.ActiveEnterTimestamp ?? "",
    restarts: Number(values.NRestarts) || 0
  };
}

export { requireSystemd as r, systemctl as s, unitState as u };
