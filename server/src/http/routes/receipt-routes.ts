import type { FastifyInstance } from 'fastify';
import { inContext } from '../../api/context-of.ts';
import { receiptPath } from '../../messages/receipt-urls.ts';
import type { ReceiveReceipt } from '../../messages/receive-receipt.ts';
import { limitReceipts } from '../limits/page-limits.ts';

interface ReceiptRoute {
  Params: { token: string };
  Body: URLSearchParams | undefined;
}

const formLimit = 4096;
/** Providers send one receipt for each change of a message's status, and repeat those that failed. */
const perToken = 20;

/**
 * Receives what providers report about sent messages. The token in the path, and the signature of providers that sign, are
 * the only credentials. The response is the same for every token.
 */
export async function addReceiptRoutes(
  app: FastifyInstance,
  { receive, requestsPerMinute }: { readonly receive: ReceiveReceipt; readonly requestsPerMinute: number },
): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: formLimit },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    const onRequest = limitReceipts(app, { perAddress: requestsPerMinute, perToken });
    scope.post<ReceiptRoute>(
      receiptPath,
      { onRequest, bodyLimit: formLimit },
      inContext(async (request, reply) => {
        const header = (name: string) => {
          const value = request.headers[name];
          return typeof value === 'string' ? value : undefined;
        };
        await receive(request.params.token, { header, form: request.body ?? new URLSearchParams() });
        return reply.code(204).send();
      }),
    );
  });
}
