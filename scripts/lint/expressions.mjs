// Rules for oxlint about regular expressions, which may run on untrusted text.
import { analyse } from 'scslre'

/** By kind, why there are texts on which an expression takes time quadratic in their length, or worse. */
const REASONS = {
  Trade: 'two of its quantifiers can match the same characters, and every way to divide them is tried',
  Self: 'a quantifier in it can match the same characters in several ways, which are all tried',
  Move: 'a run of such characters is tried again from each position: anchor it, or read line by line',
}

/** Reports expressions whose time may grow quadratically with the length of the text, or worse. */
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

/** Reports expressions that are built at run time: `linear` cannot check them. */
const written = {
  /** @param {any} context */
  create: (context) => ({
    NewExpression: (/** @type {any} */ node) => checkCall(context, node),
    CallExpression: (/** @type {any} */ node) => checkCall(context, node),
  }),
}

/**
 * @param {any} context
 * @param {any} node
 */
function checkCall(context, node) {
  if (node.callee.name === 'RegExp')
    context.report({ node, message: 'Write the expression as a literal, so that it can be checked.' })
}

export default { meta: { name: 'expressions' }, rules: { linear, written } }
