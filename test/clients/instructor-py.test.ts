import { describesBern, raises, testPythonLibrary } from './support/python.ts';

testPythonLibrary('instructor-py', {
  'from_openai: create': describesBern,
  'Mode.JSON: create': describesBern,
  'Mode.JSON_SCHEMA: create': describesBern,
  'AsyncOpenAI: create': describesBern,
  create_partial: describesBern,
  'InstructorRetryException 401': raises('InstructorRetryException', 401),
  'InstructorRetryException 404': raises('InstructorRetryException', 404),
});
