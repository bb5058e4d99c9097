import type { Mistake, Path } from './mistake.ts';

/**
 * Characters that show nothing, or change how the text around them reads: controls, line separators, directional overrides,
 * characters without a meaning of their own, and what Unicode (UAX #44, Default_Ignorable_Code_Point) draws as nothing.
 * Variation selectors follow the character that they change. Joiners are part of words of some scripts, but not of those in
 * which they are invisible.
 */
const invisible =
  /(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}](?<!(?<=[\p{L}\p{M}])[\u200c\u200d](?=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}))/u;

/** What is wrong with the name of a client. Operators tell clients apart by it, so that all of it must show as it is written. */
export function nameMistakes(name: string | undefined, path: Path): Mistake[] {
  if (name === undefined || !invisible.test(name)) return [];
  const text = 'must not contain control characters, or characters that are invisible or change the direction of text';
  return [{ path, at: 'value', text }];
}
