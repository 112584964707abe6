import type { Finding } from '#server/doctor/schema.ts'
import { EXIT, Fault } from '../fault.ts'
import type { Color, Output } from '../output.ts'

const INDENT = '          '

const COLORS: Readonly<Record<Finding['outcome'], Color>> = {
  passed: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
}

/**
 * Prints what the checks of the doctor have found: each in a line with the next step below it for people, tab-separated for
 * programs, the API's array with `--json`, the ids of what is wrong with `--quiet`. Returns whether no check has failed.
 */
export function printFindings(out: Output, findings: readonly Finding[]): boolean {
  // Another server may answer anything.
  const isList: boolean = Array.isArray(findings)
  if (!isList)
    throw new Fault(EXIT.noConnection, 'the server does not answer like Deployer; check the address')
  if (out.isJson) out.json(findings)
  else for (const finding of findings) print(out, finding)
  const count = (outcome: Finding['outcome']) =>
    findings.filter((finding) => finding.outcome === outcome).length
  const failed = count('failed')
  if (out.isTerminal)
    out.note(
      `\n${failed} failed, ${count('warning')} warnings, ${count('passed')} passed, ${count('skipped')} skipped`,
    )
  return failed === 0
}

function print(out: Output, { id, title, outcome, message, fix }: Finding): void {
  if (out.isQuiet) return outcome === 'failed' || outcome === 'warning' ? out.line(id) : undefined
  const [text, step] = [out.cleaned(message), fix === null ? '' : out.cleaned(fix)]
  if (!out.isTerminal) return out.line([outcome, id, text, step].join('\t'))
  out.line(`${out.color(COLORS[outcome], outcome.padEnd(INDENT.length))}${out.color('bold', title)}: ${text}`)
  if (step !== '') out.line(`${INDENT}${step}`)
}
