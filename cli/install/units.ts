import { join } from 'node:path'
import { proxyDirectory, supervisorPidFile } from '#proxy/control/paths.ts'
import { PRIORITY_OF_REQUESTS } from '#proxy/control/priority.ts'
import { DATA_UNIT, SETTINGS_FILE, SETTINGS_FOLDER } from './layout.ts'
import type { Release } from './release.ts'

/** What the units are made of. */
export interface UnitFacts {
  release: Release
  dataDirectory: string
  /** The engine's socket when it was named, as `unix:///...`. */
  dockerHost: string | null
}

/** What neither program needs (systemd.exec(5)). No MemoryDenyWriteExecute: V8 compiles as it runs. */
const SANDBOX = [
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectKernelTunables=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelLogs=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'KeyringMode=private',
  'SystemCallArchitectures=native',
  'SystemCallErrorNumber=EPERM',
  'SystemCallFilter=@system-service',
  'SystemCallFilter=~@keyring',
  'UMask=0077',
]

/**
 * The unit of the data plane. Its program hands itself over to a successor and its workers outlive its main process, so
 * systemd watches the file with its process id and signals that process alone: SIGTERM ends everything, the signal of a
 * restart leaves the workers serving until the next supervisor takes them over.
 */
export function dataUnit({ release, dataDirectory }: UnitFacts): string {
  const command = (action: string) =>
    `${program(release)} proxy ${action} --data-dir ${execWord(dataDirectory)}`
  return unit({
    Unit: [
      'Description=Deployer: the data plane, which serves requests',
      'Wants=network-online.target',
      'After=network-online.target',
      'StartLimitIntervalSec=0',
    ],
    Service: [
      'Type=forking',
      `PIDFile=${specifiers(supervisorPidFile(dataDirectory))}`,
      `ExecStart=${command('start')}`,
      `ExecReload=${command('upgrade')}`,
      'KillMode=process',
      'RestartKillSignal=SIGUSR2',
      'TimeoutStopSec=20s',
      'Restart=on-failure',
      'RestartSec=100ms',
      'OOMScoreAdjust=-800',
      // How far workers may put requests before everything else here.
      `LimitNICE=${PRIORITY_OF_REQUESTS}`,
      // Of the data directory it sees its own folder, and the sites and certificates that it serves: no other key, no database.
      `TemporaryFileSystem=${word(`${dataDirectory}:ro`)}`,
      `BindPaths=${word(proxyDirectory(dataDirectory))}`,
      ...['sites', 'certificates'].map((name) => `BindReadOnlyPaths=${word(join(dataDirectory, name))}`),
      `InaccessiblePaths=-${SETTINGS_FOLDER}`,
      'ProtectHome=read-only',
      'ProtectControlGroups=yes',
      'ProtectProc=invisible',
      'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
      'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
      ...SANDBOX,
      'SystemCallFilter=~@privileged',
    ],
    Install: ['WantedBy=multi-user.target'],
  })
}

/**
 * The unit of the control plane. It may write control groups, by which builds are bounded, set rules of the packet filter, and
 * read the home of its user, where the credentials of registries are; everything else it does through the engine's socket.
 */
export function controlUnit({ release, dataDirectory, dockerHost }: UnitFacts): string {
  const wanted = ['network-online.target', DATA_UNIT, ...engineUnits(dockerHost)]
  return unit({
    Unit: [
      'Description=Deployer: the control plane, which deploys and keeps what runs',
      `Wants=${wanted.join(' ')}`,
      `After=network-online.target ${DATA_UNIT} docker.service podman.socket`,
      'StartLimitIntervalSec=0',
    ],
    Service: [
      'Type=exec',
      `EnvironmentFile=${SETTINGS_FILE}`,
      `ExecStart=${program(release)} serve --data-plane wait`,
      'KillMode=mixed',
      'TimeoutStopSec=15s',
      'Restart=on-failure',
      'RestartSec=1s',
      'OOMScoreAdjust=-500',
      `ReadWritePaths=${word(dataDirectory)}`,
      'ProtectHome=read-only',
      'CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_NET_ADMIN CAP_NET_BIND_SERVICE',
      'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
      ...SANDBOX,
    ],
    Install: ['WantedBy=multi-user.target'],
  })
}

/** What brings up the engine that is used: nothing that is known for one at a place of its own. */
function engineUnits(dockerHost: string | null): string[] {
  if (dockerHost?.includes('/podman/')) return ['podman.socket']
  return dockerHost === null || /^unix:\/\/(\/var)?\/run\/docker\.sock$/.test(dockerHost)
    ? ['docker.service']
    : []
}

function unit(sections: Record<string, string[]>): string {
  const texts = Object.entries(sections).map(([name, lines]) => `[${name}]\n${lines.join('\n')}\n`)
  return `# Written by deployer install. Changes belong into a file beside it: systemctl edit\n${texts.join('\n')}`
}

function program({ node, entry }: Release): string {
  return `${execWord(node)} ${execWord(entry)}`
}

/** A word of a command line, of which systemd.service(5) also replaces variables. */
function execWord(text: string): string {
  return word(text).replaceAll('$', '$$$$')
}

/** A word in a list, quoted (systemd.syntax(7)). */
function word(text: string): string {
  return `"${specifiers(text).replace(/["\\]/g, '\\$&')}"`
}

/** A percent sign begins a specifier (systemd.unit(5)). */
function specifiers(text: string): string {
  return text.replaceAll('%', '%%')
}
