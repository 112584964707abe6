import { useContext } from '#server/context.ts'

/** The prefix of this server's images; another server may use the same engine. */
function imagePrefix(): string {
  return `deployer-${useContext().serverId}/`
}

/** The tag that keeps the image of one deploy; made of ids, since users may change names. */
export function imageTag(serviceId: string, deployId: string): string {
  return `${imagePrefix()}${serviceId}:${deployId}`
}

/** The service and the deploy that a tag of this server belongs to. */
export function readImageTag(tag: string): { serviceId: string; deployId: string } {
  const [serviceId = '', deployId = ''] = tag.slice(imagePrefix().length).split(':')
  return { serviceId, deployId }
}
