import fc from 'fast-check';

/** For mutants: a failing property is enough; shrinking it would take minutes. */
fc.configureGlobal({ endOnFailure: true });
