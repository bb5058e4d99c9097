import { type FastifyRequest, LogController } from 'fastify';
import { describeError } from '../../log/describe-error.ts';

/** Replaces the framework's log lines, which contain URLs and error messages. */
export class QuietLogController extends LogController {
  constructor() {
    super({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  }

  /** A stream failed after the response had begun. If the caller disconnected, the log line of the request says so. */
  override streamError(error: Error, request: FastifyRequest): void {
    if ('code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    request.log.error({ cause: describeError(error) }, 'response broke off');
  }
}
