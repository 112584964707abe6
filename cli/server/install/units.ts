import { join } from 'node:path'
import { proxyDirectory, supervisorPidFile } from '#proxy/control/paths.ts'
import { PRIORITY_OF_REQUESTS } from '#proxy/control/priority.ts'
import { DATA_UNIT, SETTINGS_FILE, SETTINGS_FOLDER } from './layout.ts'
import type { Release } from './release.ts'

/** The data that the units are built from. */
export interface UnitFacts {
  release: Release
  dataDirectory: string
  /** The engine's socket if it was given, as `unix:///...`. */
  dockerHost: string | null
}

/** Restrictions for both programs (systemd.exec(5)). MemoryDenyWriteExecute is missing because V8 compiles at run time. */
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
 * The unit of the data plane. Its program hands over to a successor, and its workers outlive its main process. So systemd
 * watches the file with its process id and signals only that process: SIGTERM ends everything; the restart signal leaves the
 * workers serving until the next supervisor takes them over.
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
      `PIDFile=${escapeSpecifiers(supervisorPidFile(dataDirectory))}`,
      `ExecStart=${command('start')}`,
      `ExecReload=${command('upgrade')}`,
      'KillMode=process',
      'RestartKillSignal=SIGUSR2',
      'TimeoutStopSec=20s',
      'Restart=on-failure',
      'RestartSec=100ms',
      'OOMScoreAdjust=-800',
      // The highest priority that workers may give to requests.
      `LimitNICE=${PRIORITY_OF_REQUESTS}`,
      // In the data directory it only sees its own folder and the sites and certificates that it serves, no other key or
      // database.
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
 * The unit of the control plane. It may write control groups, which limit builds, set packet filter rules, and read its
 * user's home, where registry credentials are. It does everything else through the engine's socket.
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

/** Returns the units that start the engine: none for an engine at an unusual place. */
function engineUnits(dockerHost: string | null): string[] {
  if (dockerHost?.includes('/podman/')) return ['podman.socket']
  return dockerHost === null || /^unix:\/\/(\/var)?\/run\/docker\.sock$/.test(dockerHost)
    ? ['docker.service']
    : []
}

function unit(sections: Record<string, string[]>): string {
  const texts = Object.entries(sections).map(([name, lines]) => `[${name}]\n${lines.join('\n')}\n`)
  return `# Written by deployer install. Put changes into a drop-in file: systemctl edit\n${texts.join('\n')}`
}

function program({ node, entry }: Release): string {
  return `${execWord(node)} ${execWord(entry)}`
}

/** Quotes a word of a command line, in which systemd.service(5) also replaces variables. */
function execWord(text: string): string {
  return word(text).replaceAll('$', '$$$$')
}

/** Quotes a word in a list (systemd.syntax(7)). */
function word(text: string): string {
  return `"${escapeSpecifiers(text).replace(/["\\]/g, '\\$&')}"`
}

/** Escapes percent signs, which begin specifiers (systemd.unit(5)). */
function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}
