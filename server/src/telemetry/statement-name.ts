/** What a statement does, in words of the code. */
export interface StatementName {
  /** In upper case. `OTHER`: none of those that are known. */
  readonly operation: string;
  /** The first table or function that it names. */
  readonly target: string | undefined;
}

const verbs =
  /^\s*(?:--[^\n]*\n\s*)*(select|insert|update|delete|with|begin|start|commit|rollback|savepoint|release|set|lock|listen|notify|create|alter|drop|truncate|show|merge)\b/i;
const name = '((?:"?[a-z_]+"?\\.)?"?[a-z_]+"?)';
const targets = new RegExp(
  `\\b(?:insert\\s+into|update|delete\\s+from|from|join|lock\\s+table|merge\\s+into)\\s+${name}(?![\\w.]|\\s*\\()`,
  'i',
);
const functions = new RegExp(`\\bfrom\\s+${name}\\s*\\(|^\\s*select\\s+${name}\\s*\\(`, 'i');

/** At most this many texts are kept. A statement that is built anew each time has as many texts. */
const mostKept = 1_000;
const kept = new Map<string, StatementName>();

/**
 * Names a statement by its text. Takes letters and underscores of names alone: a text can contain values, if a connector puts
 * them there instead of parameters.
 */
export function describeStatement(text: string): StatementName {
  const known = kept.get(text);
  if (known) return known;
  const bare = text.replaceAll(/'(?:[^']|'')*'/g, "''");
  const operation = verbs.exec(bare)?.[1]?.toUpperCase() ?? 'OTHER';
  const isAboutData = /^(?:SELECT|INSERT|UPDATE|DELETE|WITH|LOCK|MERGE)$/.test(operation);
  const call = functions.exec(bare);
  const target = isAboutData ? (targets.exec(bare)?.[1] ?? call?.[1] ?? call?.[2]) : undefined;
  const described = { operation, target: target?.replaceAll('"', '').toLowerCase() };
  if (kept.size >= mostKept) kept.clear();
  kept.set(text, described);
  return described;
}
