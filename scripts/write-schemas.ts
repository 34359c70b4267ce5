// Writes every JSON Schema that the repository keeps: of the configuration and of certificates.
await import('../src/config/schema/write-json-schema.ts');
await import('../src/certify/certificate/write-json-schema.ts');
