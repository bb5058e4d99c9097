import { ConnectorError } from '@crossward/connector-kit';

/**
 * Fails a stream that has fewer or more bytes than `size`. The size becomes the `content-length` of the response: more
 * bytes would be read as the next response on the connection, and with fewer the caller would wait for the rest.
 *
 * @throws ConnectorError `rejected`, from `next`, before a byte too many
 */
export function exactSize(source: AsyncIterable<Uint8Array>, size: number): AsyncIterableIterator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let read = 0;
  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      const result = await iterator.next();
      read += result.done ? 0 : result.value.length;
      if (read > size) {
        await iterator.return?.();
        throw new ConnectorError('rejected', 'The EHR sent more bytes than the size of the document');
      }
      if (result.done && read < size) {
        throw new ConnectorError('rejected', 'The EHR sent fewer bytes than the size of the document');
      }
      return result;
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => chunks,
  };
  return chunks;
}
