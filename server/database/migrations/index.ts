import initial from './001-initial.ts'
import everythingAServiceCanBe from './002-everything-a-service-can-be.ts'
import webhookDeliveries from './003-webhook-deliveries.ts'
import crashesOfDeploys from './004-crashes-of-deploys.ts'
import madeInTheEngine from './005-made-in-the-engine.ts'
import settingsSaved from './006-settings-saved.ts'
import domainsAndCertificates from './007-domains-and-certificates.ts'
import datastores from './008-datastores.ts'
import backups from './009-backups.ts'
import copiesOfBackups from './010-copies-of-backups.ts'
import gitConnections from './011-git-connections.ts'
import logsAndNotifications from './012-logs-and-notifications.ts'
import blueprints from './013-blueprints.ts'
import aptPackages from './014-apt-packages.ts'
import versionsOfKeptVolumes from './015-versions-of-kept-volumes.ts'
import deliveriesOfLogDrains from './016-deliveries-of-log-drains.ts'
import compression from './017-compression.ts'
import authorsOfCommits from './018-authors-of-commits.ts'
import tlsOfDatastores from './019-tls-of-datastores.ts'
import serverBackups from './020-server-backups.ts'
import restoredServers from './021-restored-servers.ts'
import backupsOfDisks from './022-backups-of-disks.ts'
import secondFactors from './023-second-factors.ts'
import accessOfTokens from './024-access-of-tokens.ts'
import audit from './025-audit.ts'
import edge from './026-edge.ts'
import secretFiles from './027-secret-files.ts'
import registryCredentials from './028-registry-credentials.ts'
import redirectHosts from './029-redirect-hosts.ts'
import shutdownAndOverlap from './030-shutdown-and-overlap.ts'
import severalDisks from './031-several-disks.ts'
import auditOfLogDrains from './032-audit-of-log-drains.ts'
import holdersOfTokens from './033-holders-of-tokens.ts'
import setupsOfDeploys from './034-setups-of-deploys.ts'
import timelines from './035-timelines.ts'
import stepsOfDeploys from './036-steps-of-deploys.ts'
import nodes from './037-nodes.ts'
import entries from './038-entries.ts'
import managers from './039-managers.ts'

/** Every migration in order; its position is its version. Append only: a migration that has landed is never edited. */
export const migrations: readonly string[] = [
  initial,
  everythingAServiceCanBe,
  webhookDeliveries,
  crashesOfDeploys,
  madeInTheEngine,
  settingsSaved,
  domainsAndCertificates,
  datastores,
  backups,
  copiesOfBackups,
  gitConnections,
  logsAndNotifications,
  blueprints,
  aptPackages,
  versionsOfKeptVolumes,
  deliveriesOfLogDrains,
  compression,
  authorsOfCommits,
  tlsOfDatastores,
  serverBackups,
  restoredServers,
  backupsOfDisks,
  secondFactors,
  accessOfTokens,
  audit,
  edge,
  secretFiles,
  registryCredentials,
  redirectHosts,
  shutdownAndOverlap,
  severalDisks,
  auditOfLogDrains,
  holdersOfTokens,
  setupsOfDeploys,
  timelines,
  stepsOfDeploys,
  nodes,
  entries,
  managers,
]
