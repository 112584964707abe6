// Rules for oxlint about regular expressions that are run on what others wrote.
import { analyse } from 'scslre'

/** Why a text can be written on which an expression of each kind takes the square of its length, or worse. */
const REASONS = {
  Trade: 'two of its quantifiers can take the same characters, which are tried in every division',
  Self: 'a quantifier in it can take the same characters in several ways, which are all tried',
  Move: 'a run of such characters is tried again from each of its places: anchor it, or read line by line',
}

/** An expression whose time may grow with the square of the text's length, or worse. */
const linear = {
  /** @param {any} context */
  create: (context) => ({
    /** @param {any} node */
    Literal(node) {
      if (!node.regex) return
      const { pattern: source, flags } = node.regex
      const [report] = analyse({ source, flags }, { reportTypes: { Move: !flags.includes('y') } }).reports
      if (!report) return
      const attack = JSON.stringify(report.character.pick.repeat(3))
      context.report({ node, message: `Not linear on ${attack}...: ${REASONS[report.type]}.` })
    },
  }),
}

/** An expression that is put together when the program runs is judged by nobody. */
const written = {
  /** @param {any} context */
  create: (context) => ({
    NewExpression: (/** @type {any} */ node) => judgeCall(context, node),
    CallExpression: (/** @type {any} */ node) => judgeCall(context, node),
  }),
}

/**
 * @param {any} context
 * @param {any} node
 */
function judgeCall(context, node) {
  if (node.callee.name === 'RegExp')
    context.report({ node, message: 'Write the expression as a literal, so that it can be judged.' })
}

export default { meta: { name: 'expressions' }, rules: { linear, written } }
