import type { Language } from './language.ts';
import type { Texts } from './texts.ts';
import { en } from './texts-en.ts';
import { nb } from './texts-nb.ts';
import { sv } from './texts-sv.ts';

/** The texts of the page for patients. */
export const texts: Readonly<Record<Language, Texts>> = { nb, sv, en };
