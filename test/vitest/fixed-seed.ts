import fc from 'fast-check';

/*
 * Property tests have the same inputs in each run, so that a rare input that fails does not fail an unrelated change. To
 * search for such inputs, set another seed: `PROPERTY_SEED=$RANDOM npm run test:unit`
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });
