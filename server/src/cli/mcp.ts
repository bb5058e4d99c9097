import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { type LevelWithSilent, type Logger, pino } from 'pino';
import {
  assistantVariables,
  keyVariables,
  optionalVariables,
  readDesk,
  readHttpVariables,
} from '../assistants/settings.ts';
import type { Output } from './output.ts';

interface Options {
  readonly port?: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly allowOrigin?: string[];
}

const names = Object.entries({ ...assistantVariables, ...keyVariables, ...optionalVariables }).map(
  ([name, meaning]) => `  ${name.padEnd(27)}${meaning}\n`,
);
const explanation = `
Without --port, it serves the host that starts it, on standard input and output. Variables:
${names.join('')}
With --port, each request has the credentials of its client and the header x-patient, and its path names the care unit:
/api/emrs/{emr}/care-units/{care_unit_id}/mcp, or all of an EHR: /api/emrs/{emr}/mcp. CROSSWARD_URL is read, and CROSSWARD_SECRET_KEY, which is that of the
gateway: with it, clients can use access tokens.`;

/** The SDK of the protocol is loaded only if the command runs. */
export function mcpCommand(output: Output, version: string): Command {
  return new Command('mcp')
    .description('Serve tools with which an assistant books for one patient (Model Context Protocol).')
    .option('--port <number>', 'listen for Streamable HTTP; 0 for a free port', readPort)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--public-url <url>', 'address under which hosts reach it, such as https://gateway.example', readUrl)
    .option('--allow-origin <origin...>', 'web pages that may send requests, such as https://assistant.example')
    .addHelpText('after', explanation)
    .action(async ({ port, host, publicUrl, allowOrigin = [] }: Options) => {
      const log = logTo(output, process.env.LOG_LEVEL);
      await declareTypes(process.env.CROSSWARD_IDENTIFIER_TYPES);
      if (port === undefined) {
        const desk = readDesk(process.env);
        const { serveHost } = await import('../assistants/stdio.ts');
        return serveHost(desk, output.input, version, log);
      }
      const variables = readHttpVariables(process.env);
      const { serveHttp } = await import('../assistants/http.ts');
      const served = await serveHttp({
        ...variables,
        host,
        port,
        publicUrl,
        allowedOrigins: allowOrigin,
        version,
        log,
      });
      log.info({ host, port: served.port }, 'listening for assistants');
      await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
      await served.close();
    });
}

/** Otherwise numbers of types that only the gateway knows would stay in the texts that models get. */
async function declareTypes(path: string | undefined): Promise<void> {
  if (!path) return;
  const { declareTypesIn } = await import('../config/file/load.ts');
  await declareTypesIn(path);
}

/** Standard output belongs to the protocol. */
function logTo(output: Output, level: string | undefined): Logger {
  const known = level !== undefined && (level === 'silent' || level in pino.levels.values);
  return pino({ level: known ? (level as LevelWithSilent) : 'info' }, { write: output.err });
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('Use a whole number from 0 to 65535.');
}

function readUrl(text: string): string {
  const { origin, href, protocol = '' } = URL.parse(text) ?? {};
  if (origin !== undefined && /^https?:$/.test(protocol) && href === `${origin}/`) return origin;
  throw new InvalidArgumentError('Use a URL without a path, such as https://gateway.example.');
}
