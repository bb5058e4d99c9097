import { describe, expect, test } from 'vitest';
import type { Gateway, Problem, RequestOptions } from '../gateway/gateway.ts';

interface PagedList {
  readonly gateway: Gateway;
  /** Path and query of a list with at least seven entries, without `limit`. */
  path(): string;
  /** Other lists with a `cursor` parameter, such as the same list with another filter. */
  others(): readonly string[];
  readonly field: string;
  /** Another client that may read the list. */
  readonly otherClient: NonNullable<RequestOptions['client']>;
}

type Page = Readonly<Record<string, readonly unknown[]>> & { readonly next_cursor: string | null };

/** Tests of `limit` and `cursor` that apply to every paged list. */
export function pagingCases({ gateway, path, others, field, otherClient }: PagedList): void {
  const page = (query: string, options?: RequestOptions) =>
    gateway.request<Page & Problem>('GET', `${path()}&${query}`, options);
  const entries = (body: Page) => body[field] ?? [];

  async function expectCursorInvalid(target: string, cursor: string, options?: RequestOptions) {
    const response = await gateway.request<Problem>('GET', `${target}&cursor=${encodeURIComponent(cursor)}`, options);
    expect(response).toMatchObject({
      status: 400,
      body: { reason: 'cursor_invalid', errors: [{ parameter: 'cursor', reason: 'cursor_invalid' }] },
    });
  }

  describe('pages', () => {
    test.each([1, 2, 3, 500])('of %i entries contain the whole list in order', async (limit) => {
      const whole = entries((await page('limit=500')).body);
      expect(whole.length).toBeGreaterThanOrEqual(7);
      const found: unknown[] = [];
      for (let cursor = ''; ; ) {
        const { status, body } = await page(`limit=${limit}${cursor}`);
        expect(status).toBe(200);
        found.push(...entries(body));
        if (body.next_cursor === null) break;
        expect(entries(body)).toHaveLength(limit);
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(found).toEqual(whole);
    });

    test('may change their size between requests', async () => {
      const whole = entries((await page('limit=500')).body);
      const first = await page('limit=2');
      const rest = await page(`limit=500&cursor=${first.body.next_cursor}`);
      expect([...entries(first.body), ...entries(rest.body)]).toEqual(whole);
    });

    test.each([
      ...['0', '-1', '501', '1.5', 'many', '', '1e9', '99999999999999999999', '5x', '%00'],
      // Forms that JavaScript reads as a valid number.
      ...['0x10', '0b11', '1e2', '5.0', '+5', ' 5', '5 ', '\t5', '٥'],
    ])('reject the size "%s"', async (limit) => {
      const response = await page(`limit=${encodeURIComponent(limit)}`);
      expect(response).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ parameter: 'limit' }] },
      });
    });

    test('reject two sizes', async () => {
      const response = await page('limit=1&limit=2');
      expect(response).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid', errors: [{ parameter: 'limit' }] },
      });
    });
  });

  describe('a cursor', () => {
    const cursorOf = async (target = path()) => {
      const { body } = await gateway.request<Page>('GET', `${target}&limit=2`);
      if (body.next_cursor === null) throw new Error('The list has only one page');
      return body.next_cursor;
    };

    test('is opaque and differs each time', async () => {
      const cursor = await cursorOf();
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      const bytes = Buffer.from(cursor, 'base64url').toString('latin1');
      expect(bytes).not.toMatch(/r-\d|p-\d|20\d\d-|consultation/);
      expect(await cursorOf()).not.toBe(cursor);
    });

    test('is valid only for the client that received it', async () => {
      await expectCursorInvalid(path(), await cursorOf(), { client: otherClient });
      expect((await page('limit=2', { client: otherClient })).status).toBe(200);
    });

    test('is valid only for the same list and filters', async () => {
      const cursor = await cursorOf();
      for (const other of others()) await expectCursorInvalid(other, cursor);
    });

    test('is rejected if any part is changed', async () => {
      const cursor = await cursorOf();
      for (const index of [0, 3, 6, 12, 20, 30, 40, cursor.length - 2]) {
        const other = cursor[index] === 'A' ? 'B' : 'A';
        await expectCursorInvalid(path(), cursor.slice(0, index) + other + cursor.slice(index + 1));
      }
      for (const text of ['x', cursor.slice(0, -4), cursor.slice(4), `${cursor}AAAA`, 'A'.repeat(400), 'null', '{}']) {
        await expectCursorInvalid(path(), text);
      }
    });
  });
}
