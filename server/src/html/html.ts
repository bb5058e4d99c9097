import { escapeUTF8 } from 'entities';

/** Text that is safe to insert into a page. Only `html` and `trustedHtml` make it. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type { Html };

/** What a template can contain. `false`, `null` and `undefined` stand for nothing. */
export type HtmlContent = Html | string | number | false | null | undefined | readonly HtmlContent[];

/** Tag of a template literal. Escapes every value that is not HTML itself. Write quotes around attribute values. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  return new Html(parts.reduce((text, part, index) => text + textOf(values[index - 1]) + part));
}

function textOf(content: HtmlContent): string {
  if (content instanceof Html) return content.text;
  if (Array.isArray(content)) return content.map(textOf).join('');
  return content === false || content === null || content === undefined ? '' : escapeUTF8(String(content));
}

/** HTML that another library has made of text that nobody outside of the project has written. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}
