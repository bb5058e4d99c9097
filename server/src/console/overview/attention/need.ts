import { type Html, type HtmlContent, html } from '../../../html/html.ts';
import { counted, duration, time } from '../../frame/parts.ts';

/** Something that does not mend itself, or not soon. */
export interface Need {
  /** What it is about, such as the name of an EHR. */
  readonly subject: string;
  /** One sentence with the cause, without a full stop. */
  readonly what: HtmlContent;
  /** How many patients it concerns. Absent: none, or not known. */
  readonly patients?: number;
  /** When it began. */
  readonly since?: Date | null;
  /** The button that mends it, or a link to the page that has it. */
  readonly mend: HtmlContent;
}

/** The sentence with the cause, since when, and how many patients it concerns. */
export function sentenceOf({ what, patients = 0, since }: Pick<Need, 'what' | 'patients' | 'since'>): Html {
  return html`${what}${since && html`, since ${time(since)} (${duration((Date.now() - since.getTime()) / 1000)})`}${
    patients > 0 && `; it concerns ${counted(patients, 'patient')}`
  }.`;
}
