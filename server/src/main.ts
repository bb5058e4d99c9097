import { type Environment, readEnvironment } from './config/environment/environment.ts';
import { DatabaseError } from './db/errors.ts';
import { createLog, type LogFormat } from './log/create-log.ts';
import { describeError } from './log/describe-error.ts';
import { tolerateClosedOutput } from './startup/closed-output.ts';
import { ConfigurationError } from './startup/configuration-error.ts';
import { endWithLauncher } from './startup/launcher.ts';
import { assertCanListen } from './startup/listen-error.ts';
import { onHangUp } from './workers/hang-up.ts';
import { runWorkers, workerNumber } from './workers/run-workers.ts';
import { connectToSupervisor } from './workers/supervisor.ts';

// The process that starts workers does not load the gateway.
async function main(): Promise<void> {
  const worker = workerNumber(process.argv);
  if (worker === undefined && process.argv.length > 2) {
    tolerateClosedOutput(process.stdout, process.stderr);
    const { answerArguments } = await import('./gateway-usage.ts');
    const { text, exitCode } = answerArguments(process.argv.slice(2));
    process[exitCode === 0 ? 'stdout' : 'stderr'].write(text);
    process.exitCode = exitCode;
    return;
  }
  const environment = readEnvironment();
  const log = await createLog(environment.logLevel, environment.logFormat ?? defaultLogFormat(environment));
  if (worker !== undefined) {
    const supervisor = connectToSupervisor(worker);
    onHangUp(ignore);
    const { runGateway } = await import('./run-gateway.ts');
    return runGateway(environment, log, supervisor);
  }
  onHangUp(ignore);
  endWithLauncher();
  // Before the gateway is loaded.
  await assertCanListen(environment);
  if (environment.workers > 1) return runWorkers(environment.workers, log);
  const { runGateway } = await import('./run-gateway.ts');
  return runGateway(environment, log);
}

/** The demo in a terminal is for people. */
function defaultLogFormat({ configurationPath }: Environment): LogFormat {
  return process.stdout.isTTY && configurationPath === undefined ? 'pretty' : 'json';
}

/** Until the gateway runs, which begins with the configuration as it is then. */
function ignore(): void {}

try {
  await main();
} catch (error) {
  const isForPeople = error instanceof ConfigurationError || error instanceof DatabaseError;
  const text = isForPeople ? error.message : JSON.stringify(describeError(error));
  process.stderr.write(`Crossward cannot start.\n${text}\n`);
  process.exit(1);
}
