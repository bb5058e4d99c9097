/**
 * Characters that show nothing, or change how the text around them reads: controls, line separators, directional overrides,
 * characters without a meaning of their own, and what Unicode (UAX #44, Default_Ignorable_Code_Point) draws as nothing.
 * Variation selectors follow the character that they change. Joiners are part of words of some scripts, but not of those in
 * which they are invisible.
 */
const hidden =
  /(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}](?<!(?<=[\p{L}\p{M}])[\u200c\u200d](?=(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{L}))/u;

/** Whether a name of a person or a client holds something that nobody sees, or reads in another order than it is written. */
export function hidesText(name: string): boolean {
  return hidden.test(name);
}
