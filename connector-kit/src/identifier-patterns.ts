/** Longest value that a pattern can describe. */
const longest = 40;

/** A place of a value: the characters that can stand there, as a part of a regular expression, and how often. */
interface Place {
  readonly characters: string;
  /** Whether a hyphen is one of them. */
  readonly hasHyphen: boolean;
  readonly least: number;
  readonly most: number;
}

/** Describes the values of an identifier type. */
export interface ValuePattern {
  /** Whether the whole text is such a value. */
  fits(text: string): boolean;
  /** Whether a value can have a hyphen, which then is a part of it. */
  readonly hasHyphen: boolean;
  /** Of each alternative, what stands where. */
  readonly alternatives: readonly (readonly Place[])[];
}

const known = new Map<string, ValuePattern>();

/**
 * Reads a pattern: characters (`A`, `7`, `-`), `\d` and classes (`[A-HJ-NP-Z]`), each perhaps with `{3}` or `{1,18}`, in
 * alternatives (`|`). It is a small part of a regular expression, which no text can make slow: nothing repeats without a limit,
 * repetitions are not nested, and an alternative has one of variable length at most.
 *
 * @throws {SyntaxError} that says what is wrong with the pattern
 */
export function valuePattern(pattern: string): ValuePattern {
  const read = known.get(pattern) ?? readPattern(pattern);
  known.set(pattern, read);
  return read;
}

function readPattern(pattern: string): ValuePattern {
  const alternatives = pattern.split('|').map(readAlternative);
  const whole = new RegExp(`^(?:${alternatives.map(asExpression).join('|')})$`);
  return {
    fits: (text) => text.length <= longest && whole.test(text),
    hasHyphen: alternatives.flat().some((it) => it.hasHyphen),
    alternatives,
  };
}

function asExpression(places: readonly Place[]): string {
  return places.map(({ characters, least, most }) => `${characters}{${least},${most}}`).join('');
}

const place = /([A-Za-z0-9-]|\\d|\[[A-Za-z0-9+/-]+\])(?:\{(\d{1,2})(?:,(\d{1,2}))?\})?/y;

function readAlternative(text: string): readonly Place[] {
  const places: Place[] = [];
  place.lastIndex = 0;
  while (place.lastIndex < text.length) {
    const at = place.lastIndex;
    const [, characters = '', least = '1', most = least] = place.exec(text) ?? [];
    if (characters === '') {
      const expected = 'letters, digits, hyphens, \\d and classes such as [A-Z], each perhaps with {3} or {1,18}';
      throw new SyntaxError(`has something else than ${expected} at character ${at + 1} of an alternative`);
    }
    places.push({ characters, hasHyphen: hasHyphen(characters), least: Number(least), most: Number(most) });
  }
  if (places.length === 0) throw new SyntaxError('has an empty alternative');
  if (places.some(({ least, most }) => least > most || most === 0))
    throw new SyntaxError('has a repetition of nothing');
  if (places.filter(({ least, most }) => least !== most).length > 1) {
    throw new SyntaxError('has an alternative with more than one repetition of variable length');
  }
  if (places.reduce((sum, { most }) => sum + most, 0) > longest) {
    throw new SyntaxError(`has an alternative of more than ${longest} characters`);
  }
  return places;
}

function hasHyphen(characters: string): boolean {
  try {
    return new RegExp(`^${characters}$`).test('-');
  } catch {
    throw new SyntaxError(`has a class whose range runs backwards: ${characters}`);
  }
}
