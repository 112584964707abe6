import { KINDS } from '../datastores/kinds.ts'
import { deployableUrlFault } from '../git/input.ts'
import { deployableImageFault } from '../images/registry.ts'
import { TYPES } from '../services/types.ts'
import { hiddenFault } from '../text/redaction.ts'
import { checkFile, checkSettings } from './check-file.ts'
import { checkNodes } from './check-nodes.ts'
import { checkReferences } from './check-references.ts'
import type { Faults } from './faults.ts'
import { placeIn } from './nodes.ts'
import type { Project, WantedDatastore, WantedService } from './project.ts'
import { wantedPatch } from './settings.ts'
import type { Standing } from './standing.ts'

/** Finds every fault of a project that can be found without trying to apply it. */
export function checkProject(project: Project, standing: Standing, faults: Faults): void {
  checkFile(project, faults)
  for (const datastore of project.datastores) checkDatastore(datastore, standing, faults)
  for (const service of project.services) checkService(service, standing, faults)
  checkNodes(project, standing, faults)
  checkReferences(project, standing, faults)
}

function checkDatastore(wanted: WantedDatastore, standing: Standing, faults: Faults): void {
  const { name, environment, kind, node } = wanted
  const service = standing.service(environment, name)
  if (service) faults.add(placeIn(node, ['name']), `${name} is in use by service ${service.id}`)
  const there = standing.datastore(environment, name)
  if (there && kind && there.kind !== kind)
    faults.add(
      placeIn(node, ['kind']),
      `cannot be changed: datastore ${name} is a ${KINDS[there.kind].label}`,
    )
  if (there?.status === 'deleting') faults.add(placeIn(node, ['name']), `datastore ${name} is being deleted`)
}

function checkService(wanted: WantedService, standing: Standing, faults: Faults): void {
  const { name, environment, node, type, fields } = wanted
  const datastore = standing.datastore(environment, name)
  if (datastore) faults.add(placeIn(node, ['name']), `${name} is in use by datastore ${datastore.id}`)
  const there = standing.service(environment, name)
  if (there?.deleting) faults.add(placeIn(node, ['name']), `service ${name} is being deleted`)
  if (there && type && type !== there.type)
    faults.add(placeIn(node, ['type']), `cannot be changed: service ${name} is ${TYPES[there.type].label}`)
  const { repo_url } = wantedPatch(fields, there)
  const hidden = typeof repo_url === 'string' ? hiddenFault(repo_url) : null
  if (hidden !== null) faults.add(placeIn(node, ['repo_url']), hidden)
  const repository = typeof fields.repo_url === 'string' ? deployableUrlFault(fields.repo_url) : null
  if (repository !== null) faults.add(placeIn(node, ['repo_url']), repository)
  const image = typeof fields.image === 'string' ? deployableImageFault(fields.image) : null
  if (image !== null) faults.add(placeIn(node, ['image']), image)
  checkSettings(wanted, there, faults)
}
