import { ConnectorError, type StreamedBody } from '@crossward/connector-kit';

const mark = '@content@';

/** The body of a `create` with one `bytes` value, which is encoded while it is sent. */
export function createBody(
  method: string,
  values: object,
  size: number,
  content: () => AsyncIterable<Uint8Array>,
): StreamedBody {
  const data = { __class__: 'bytes', base64: mark };
  const whole = JSON.stringify({ id: 0, method, params: [[{ data, ...values }], {}] });
  // The first: it stands before anything that the caller wrote.
  const at = whole.indexOf(mark);
  const [head, tail] = [Buffer.from(whole.slice(0, at)), Buffer.from(whole.slice(at + mark.length))];
  return {
    size: head.length + Math.ceil(size / 3) * 4 + tail.length,
    async *read() {
      yield head;
      yield* encoded(content());
      yield tail;
    },
  };
}

async function* encoded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest = Buffer.alloc(0);
  for await (const chunk of content) {
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** The bytes of the one `base64` text of a response, decoded while it arrives. Tryton breaks its lines with `\n`. */
export async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let state: 'before' | 'inside' | 'after' = 'before';
  let kept = '';
  for await (const chunk of chunks) {
    if (state === 'after') continue;
    kept += Buffer.from(chunk).toString('latin1');
    if (state === 'before') {
      const opening = /"base64":\s*"/.exec(kept);
      if (!opening) continue;
      kept = kept.slice(opening.index + opening[0].length);
      state = 'inside';
    }
    const end = kept.indexOf('"');
    if (end !== -1) state = 'after';
    const text = (end === -1 ? kept : kept.slice(0, end)).replaceAll('\\n', '');
    // A line break can be cut in two, and four characters are three bytes.
    const whole = state === 'after' ? text.length : wholeLength(text);
    kept = text.slice(whole);
    if (whole > 0) yield Buffer.from(text.slice(0, whole), 'base64');
  }
  if (state !== 'after') throw new ConnectorError('rejected', 'The EHR sent a document that breaks off');
}

function wholeLength(text: string): number {
  const length = text.endsWith('\\') ? text.length - 1 : text.length;
  return length - (length % 4);
}
