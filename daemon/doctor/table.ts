import type { Check } from './check.ts'
import { datastoreBackups, serverBackup } from './checks/backups.ts'
import { certificates } from './checks/certificates.ts'
import { clock } from './checks/clock.ts'
import { dataDirectory } from './checks/data-directory.ts'
import { dataPlane } from './checks/data-plane.ts'
import { database } from './checks/database.ts'
import { buildLimits, engine, logDriver, storageDriver } from './checks/engine.ts'
import { baseDomain, wildcard } from './checks/names.ts'
import { containerAddresses, metadataAddresses, resolver } from './checks/networks.ts'
import { nodes } from './checks/nodes.ts'
import { openFiles } from './checks/open-files.ts'
import { httpPort, httpsPort } from './checks/ports.ts'
import { disk, inodes, memory } from './checks/space.ts'
import { strays } from './checks/strays.ts'

/** Every check, in the order of `CHECK_IDS`. */
export const CHECKS: readonly Check[] = [
  engine,
  storageDriver,
  logDriver,
  buildLimits,
  containerAddresses,
  resolver,
  metadataAddresses,
  httpPort,
  httpsPort,
  baseDomain,
  wildcard,
  clock,
  disk,
  inodes,
  memory,
  serverBackup,
  datastoreBackups,
  certificates,
  dataDirectory,
  database,
  strays,
  nodes,
  dataPlane,
  openFiles,
]
