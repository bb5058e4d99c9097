/** The GSM 7 bit default alphabet without its extension table: 3GPP TS 23.038 section 6.2.1. */
const basic = new Set(
  '@£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà\n\r',
);

/** Characters that are not in the alphabet, even without their accents. */
const substitutes: Readonly<Record<string, string>> = {
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  þ: 'th',
  Þ: 'Th',
  ŋ: 'n',
  Ŋ: 'N',
  ŧ: 't',
  Ŧ: 'T',
  ł: 'l',
  Ł: 'L',
  ħ: 'h',
  Ħ: 'H',
  ı: 'i',
  œ: 'oe',
  Œ: 'OE',
  ẞ: 'SS',
  ʒ: 'z',
  Ʒ: 'Z',
  ǥ: 'g',
  Ǥ: 'G',
  '€': 'EUR',
  '[': '(',
  ']': ')',
  '{': '(',
  '}': ')',
  '\\': '/',
  '|': '/',
  '~': '-',
  '^': '',
  '`': "'",
  '´': "'",
  '‘': "'",
  '’': "'",
  '‚': ',',
  '“': '"',
  '”': '"',
  '„': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '‑': '-',
  '−': '-',
  '·': '-',
  '•': '-',
  '…': '...',
};

function isGsm(text: string): boolean {
  return [...text].every((character) => basic.has(character));
}

/** Length in septets of a text in the basic set. */
export function gsmSeptets(text: string): number {
  return [...text].length;
}

/**
 * Converts a text to the basic set: other letters lose their accents or are replaced, other symbols are dropped. Returns
 * `undefined` if the text has a letter or digit of another script.
 */
export function toGsm(text: string): string | undefined {
  let result = '';
  for (const character of text.normalize('NFC')) {
    const replaced = replacement(character);
    if (replaced === undefined && /[\p{L}\p{N}]/u.test(character)) return undefined;
    result += replaced ?? '';
  }
  return result.trim();
}

function replacement(character: string): string | undefined {
  if (basic.has(character)) return character;
  const substitute = substitutes[character];
  if (substitute !== undefined) return substitute;
  for (const plain of [character.normalize('NFD').replace(/\p{M}/gu, ''), character.normalize('NFKC')]) {
    if (plain !== '' && plain !== character && isGsm(plain)) return plain;
    const mapped = substitutes[plain];
    if (mapped !== undefined) return mapped;
  }
  return undefined;
}
