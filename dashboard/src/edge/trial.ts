import type { EdgeForm } from './form.ts'
import { usersOf } from './form.ts'
import { redirectsOf } from './lines.ts'

/** Lines for a terminal that try what a service asks for its requests, as the form has it. */
export function trialOf(url: string, form: EdgeForm): string {
  const [user] = usersOf(form)
  const [redirect] = redirectsOf(form.redirects)
  const path = redirect?.from.replaceAll(/:[A-Za-z]\w*|\*$/g, 'x')
  return [
    `curl -i '${url}/'`,
    ...(path ? [`curl -i '${url}${quoted(path)}'`] : []),
    ...(user?.username ? [`curl -i -u '${quoted(user.username)}' '${url}/'`] : []),
    ...(form.requests === '' ? [] : [`curl -s -o /dev/null -w '%{http_code}\\n' '${url}/?[1-20]'`]),
  ].join('\n')
}

/** For a text inside single quotes of a shell. */
function quoted(text: string): string {
  return text.replaceAll("'", String.raw`'\''`)
}
