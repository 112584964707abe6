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
]
