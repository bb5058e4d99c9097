/** Begins the name of each operator by OpenID Connect, and of no account. */
export const oidcPrefix = 'oidc:';

/** The first of these texts that has visible characters, as the name of an operator. */
export function operatorNameOf(...texts: readonly unknown[]): string {
  const [name] = texts
    .filter((it) => typeof it === 'string')
    .map((it) => it.replace(/[\p{C}\u2028\u2029]/gu, '').trim())
    .filter((it) => it !== '');
  return `${oidcPrefix}${[...(name ?? 'unnamed')].slice(0, 100).join('')}`;
}
