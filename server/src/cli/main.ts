import { tolerateClosedOutput } from '../startup/closed-output.ts';
import { endWithLauncher } from '../startup/launcher.ts';
import { run } from './run.ts';

tolerateClosedOutput(process.stdout, process.stderr);
endWithLauncher();

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  // Opened when it is read, so that other commands do not wait for it.
  get input() {
    return process.stdin;
  },
});
