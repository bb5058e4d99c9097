import { Command } from 'commander';
import { exitCodes } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { type JsonOption, jsonOption, printJson } from '../print-json.ts';
import { type Area, areas } from './finding.ts';
import { formatFindings, isWell } from './report.ts';
import { runChecks } from './run-checks.ts';

type End = (exitCode: number) => void;

const explanation = `
Run it where the gateway runs, with the same environment variables. It starts no gateway, sends no message and changes
nothing. Beside a gateway that uses the embedded database, it asks that gateway.

Exit codes:
  0  nothing must be fixed; there may be warnings
  1  a problem was found
  2  the command cannot be used like this`;

/** `doctor`: all checks. */
export function doctorCommand(output: Output, end: End): Command {
  const description = 'Check the configuration and everything that the gateway needs.';
  return view({ name: 'doctor', description, wanted: areas }, output, end);
}

/** `status`: whether it works now. */
export function statusCommand(output: Output, end: End): Command {
  const description = 'Show whether the gateway, its database, EHRs and message providers work now.';
  const wanted: readonly Area[] = ['gateway', 'database', 'EHRs', 'messages'];
  return view({ name: 'status', description, wanted, mustRun: true }, output, end);
}

/** `config check`: the setup alone, without any connection. */
export function configCheckCommand(output: Output, end: End): Command {
  const description = 'Check the environment variables and the configuration file, without any connection.';
  return view({ name: 'check', description, wanted: ['configuration'] }, output, end);
}

interface View {
  readonly name: string;
  readonly description: string;
  readonly wanted: readonly Area[];
  readonly mustRun?: boolean;
}

function view({ name, description, wanted, mustRun = false }: View, output: Output, end: End): Command {
  return new Command(name)
    .description(description)
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .option(...jsonOption)
    .addHelpText('after', explanation)
    .action(async ({ config, json }: JsonOption & { readonly config?: string }) => {
      const findings = await runChecks({ config, wanted, mustRun });
      if (json) printJson(output, { ok: isWell(findings), findings });
      else output.out(formatFindings(findings));
      end(isWell(findings) ? exitCodes.fine : exitCodes.failed);
    });
}
