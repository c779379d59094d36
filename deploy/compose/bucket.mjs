// Makes the bucket that S3_BUCKET names where it is not there yet, with the settings of the gateway.
import { CreateBucketCommand, HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';

const { S3_BUCKET, S3_ENDPOINT, S3_REGION = 'us-east-1' } = process.env;
const client = new S3Client({ endpoint: S3_ENDPOINT, region: S3_REGION, forcePathStyle: true, maxAttempts: 10 });
try {
  await client.send(new HeadBucketCommand({ Bucket: S3_BUCKET }));
  console.log(`The bucket ${S3_BUCKET} is there.`);
} catch {
  await client.send(new CreateBucketCommand({ Bucket: S3_BUCKET }));
  console.log(`Made the bucket ${S3_BUCKET}.`);
}
