/** Arguments for `addHelpText`: what a line of a list says. The list has no heading, so that each of its lines is an entry. */
export function columnHelp(...columns: readonly string[]): ['after', string] {
  return ['after', `\nEach line: ${columns.join('; ')}.`];
}
