import type { Texts } from './texts.ts';
import { english } from './texts-en.ts';
import { norwegian } from './texts-nb.ts';
import { swedish } from './texts-sv.ts';

/** The language of a care unit, as the gateway names it. */
export type Language = 'nb' | 'sv' | 'en';

export const textsOf: Readonly<Record<Language, Texts>> = { nb: norwegian, sv: swedish, en: english };
