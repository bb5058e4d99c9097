import type { HtmlContent } from '../../html/html.ts';

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
