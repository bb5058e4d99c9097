const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
/** As browsers check it: https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address */
const address = `[a-zA-Z0-9.!#$%&'*+/=?^_\`{|}~-]+@${label}(?:\\.${label})*`;
const whole = new RegExp(`^${address}$`);

/** Whether a text is an e-mail address and nothing else. */
export function isEmailAddress(text: string): boolean {
  return text.length <= 254 && whole.test(text);
}

/** The first e-mail address in a text that somebody wrote: alone, as a `mailto:` URI, or beside a name or other words. */
export function emailIn(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const words = text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split(/[\s<>()[\],;:"]+|\bmailto:|\?(?=[a-z]+=)/i);
  return words.map((it) => it.replace(/\.$/, '')).find(isEmailAddress) ?? null;
}
